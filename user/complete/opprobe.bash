# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2207
# Completion for bash, loaded by bash-completion. What may stand where, opprobe itself says:
# see COMPLETION of opprobe(1).

_opprobe() {
	local cur words cword line breaks answer i IFS=$'\n'

	# "--sort=total" and "perf::CYCLES" are one word.
	_get_comp_words_by_ref -n =: cur words cword
	words=("${words[@]:0:cword+1}")
	words[cword]=${cur#[\'\"]}
	COMPREPLY=()
	answer=$("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
	for line in $answer; do
		case $line in
		:files*)
			cur=${cur#--*=}
			line=${line#:files}
			_filedir ${line:+"${line#* .}"}
			return
			;;
		:command*)
			for ((i = 1; i < COMP_CWORD; i++)); do
				[[ ${COMP_WORDS[i]} != -- ]] || break
			done
			_command_offset $((i + 1))
			return
			;;
		:nospace) compopt -o nospace ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done
	# Of a word in pieces the shell replaces the last one.
	breaks=${words[cword]%"${words[cword]##*[=:]}"}
	if [[ $breaks && $COMP_WORDBREAKS == *[=:]* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"$breaks"}")
	fi
}

complete -F _opprobe opprobe
