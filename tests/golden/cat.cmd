dwell cat server.dwell | grep -v "^sample"; dwell cat --section samples example.dwell | head -3
