module trtmc-ranking-proxy

go 1.26
