#compdef opprobe
# SPDX-License-Identifier: GPL-2.0-only
# Completion for zsh. What may stand where, opprobe itself says: see COMPLETION of opprobe(1).

_opprobe() {
	local line
	local -a before found behind

	before=("${(@Q)words[2,CURRENT-1]}")
	for line in "${(@f)$("${(Q)words[1]}" complete -- "${before[@]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
		case $line in
		:files*)
			compset -P '--*='
			if [[ $line == ':files '* ]]; then
				_files -g "*${line#:files }(-.)"
			else
				_files
			fi
			return
			;;
		:command*)
			shift $(( ${line#:command } )) words
			(( CURRENT -= ${line#:command } ))
			_normal
			return
			;;
		:nospace) behind=(-S '') ;;
		?*)
			if [[ $line == *$'\t'* ]]; then
				found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
			else
				found+=("${line//:/\\:}")
			fi
			;;
		esac
	done
	_describe opprobe found "${behind[@]}"
}

_opprobe "$@"
