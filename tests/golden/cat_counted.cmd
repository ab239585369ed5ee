dwell cat --section basic-blocks,edges counted.dwell
