/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Attributes of nodes, read from outside. What must hold: in the node a
 * std::unordered_map with as many elements as its list has, each {next, key,
 * AttributeProto}; keys are identifiers, and the AttributeProto says the same
 * name. Where in both, is found at the nodes of the first session, and must
 * hold for every later one. Of an AttributeProto the parts lie around its
 * name (the order in which protobuf's compiler lays out the fields of
 * AttributeProto in onnx/onnx.proto: repeated ones, texts, messages, numbers);
 * its type must be the one that the operators' specification gives to an
 * attribute of that name, else it is absent.
 */
#ifndef OPPROBE_ORT_ATTRIBUTES_H
#define OPPROBE_ORT_ATTRIBUTES_H

#include "../../../bpf/ort/layout.h"
#include "../../target/memory.h"
#include "../runtime.h"

/* Where they lie; zeroed, it is not known yet. */
struct ort_attribute_layout {
	uint32_t map;  /* in Node, bytes */
	uint32_t name; /* in AttributeProto: pointer to its name */
};

/*
 * Add to @list the attributes of the operator at @key, and of those that its
 * session keeps beside it, as of struct naming_ops. Learns @found. 0, or a negative errno if
 * they cannot be read, with @list as it was or with whole operators in it.
 */
int ort_read_attributes(const struct memory *memory, const struct ort_layout *layout,
			const struct operator_key *key, struct ort_attribute_layout *found,
			struct attribute_list *list);

#endif
