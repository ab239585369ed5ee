dwell report templates.dwell
dwell callers 'std::_Hashtable<…>::_M_find_before_node' templates.dwell
dwell callers _M_find templates.dwell
