# SPDX-License-Identifier: GPL-2.0-only
# Completion for fish. What may stand where, opprobe itself says: see COMPLETION of opprobe(1).

function __opprobe_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    for line in ($program complete -- $words "$word" 2>/dev/null)
        switch $line
            case ':files *'
                __fish_complete_suffix (string replace ':files ' '' -- $line)
            case ':files'
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$word")
            case ':command *'
                set -l rest $words "$word"
                set -l first (string replace ':command ' '' -- $line)
                __fish_complete_subcommand --commandline $rest[$first..-1]
            case ':nospace'
                # What a word ends with tells it.
            case '*'
                echo $line
        end
    end
end

complete -k -c opprobe -f -a '(__opprobe_complete)'
