script -i {corpus}/nevesnunes+covlizer/examples/perf.data -F ip,time --time ,216441.9423 --symfs /nonexistent --kallsyms /dev/null
