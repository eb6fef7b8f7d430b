# SPDX-License-Identifier: Apache-2.0
# Completion of ringtail's command line in fish. Ringtail itself says what may follow.

function __ringtail_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process) (commandline --current-token --cut-at-cursor)
    for line in ($words[1] --__complete $words[2..-1] 2>/dev/null)
        set -l field (string split -m 1 \t -- $line)
        switch $field[1]
            case ':files' ':directories'
                set -l path (string sub -s (math (string length -- "$field[2]") + 1) -- $words[-1])
                for found in (__fish_complete_path "$path")
                    echo $field[2]$found
                end
            case ':command'
                __fish_complete_subcommand --commandline $words[(math $field[2] + 3)..-1]
            case '*'
                echo $line
        end
    end
end

complete --command ringtail --no-files --arguments '(__ringtail_complete)'
