report --switch-on page-faults:u -n -s comm {corpus}/local/multi-data.data --symfs /nonexistent --kallsyms /dev/null -g none
