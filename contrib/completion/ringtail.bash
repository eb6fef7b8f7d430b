# SPDX-License-Identifier: Apache-2.0
# Completion of ringtail's command line in bash. Ringtail itself says what may follow.

_ringtail() {
	local words=() at=() line=$COMP_LINE part last=${COMP_WORDS[COMP_CWORD]} space i text what head
	COMPREPLY=()
	# bash takes words apart at = and :, too. Only those with a space between them are words.
	for ((i = 0; i <= COMP_CWORD; i++)); do
		part=${COMP_WORDS[i]}
		space=${line%%[![:space:]]*}
		line=${line#"$space"}
		line=${line#"$part"}
		if ((i)) && [[ ! $space && $part ]]; then
			words[-1]+=$part
		else
			words+=("$part")
			at+=("$i")
		fi
	done
	# What bash replaces is the last part alone.
	[[ $last == [=:] ]] && last=
	head=${words[-1]%"$last"}
	while IFS=$'\t' read -r text what; do
		case $text in
		:files | :directories)
			compopt -o filenames
			what=${words[-1]#"$what"}
			head=${what%"$last"}
			[[ $text == :files ]] && i=-f || i=-d
			while IFS= read -r text; do
				COMPREPLY+=("${text#"$head"}")
			done < <(compgen "$i" -- "$what")
			;;
		:command)
			if ((what + 2 == ${#words[@]} - 1)); then
				compopt -o filenames
				while IFS= read -r text; do
					COMPREPLY+=("$text")
				done < <(compgen -c -- "$last" | sort -u)
			elif declare -F _command_offset >/dev/null; then
				_command_offset "${at[what + 2]}"
			else
				compopt -o default
			fi
			;;
		*)
			[[ $text == *= ]] && compopt -o nospace
			COMPREPLY+=("${text#"$head"}")
			;;
		esac
	done < <("${words[0]/#\~\//"$HOME/"}" --__complete "${words[@]:1}" 2>/dev/null)
}

complete -F _ringtail ringtail
