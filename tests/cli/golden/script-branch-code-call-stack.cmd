script -i {corpus}/nevesnunes+covlizer/examples/perf.data -F ip,brstackinsn
