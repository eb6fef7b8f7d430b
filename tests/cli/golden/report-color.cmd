report --stdio-color always
