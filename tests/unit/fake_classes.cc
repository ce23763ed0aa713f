// SPDX-License-Identifier: GPL-2.0-only
//
// The classes that shapes are known by, in one library or in two: RUNTIME has those of
// ONNX Runtime, ONNX those of the ONNX library, PART and PART_RUNTIME some of these. Whoever has
// neither knows them by name: SAYS.
#define CLASS(name)                                                                                \
	class name                                                                                 \
	{                                                                                          \
	      public:                                                                              \
		virtual ~name();                                                                   \
		virtual int number();                                                              \
	};                                                                                         \
	name::~name()                                                                              \
	{                                                                                          \
	}                                                                                          \
	int name::number()                                                                         \
	{                                                                                          \
		return __COUNTER__;                                                                \
	}

#ifdef RUNTIME
namespace onnxruntime
{
#ifndef PART_RUNTIME
CLASS(OpKernelContextInternal)
#endif
CLASS(TensorTypeBase)

template <typename T> class PrimitiveDataType
{
      public:
	virtual ~PrimitiveDataType() = default;
	virtual T zero()
	{
		return 0;
	}
};
template class PrimitiveDataType<float>;
template class PrimitiveDataType<long>;
} // namespace onnxruntime
#endif

#ifdef ONNX
namespace onnx
{
CLASS(ValueInfoProto)
CLASS(TypeProto)
#ifndef PART
CLASS(TypeProto_Tensor)
CLASS(TensorShapeProto)
CLASS(TensorShapeProto_Dimension)
#endif
} // namespace onnx
#endif

#ifdef SAYS
extern "C" const char *says()
{
	return "N4onnx14ValueInfoProtoE";
}
#endif
