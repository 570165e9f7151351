#!/bin/sh
# HAProxy's check of a database server (haproxy-database.cfg): well if it takes writes, and as a node of Galera is in its cluster.
# HAProxy passes the addresses of the proxy and of the server. The account needs no rights: CREATE USER check@'%' …
answer=$(mariadb --defaults-file=/etc/haproxy/database.cnf --host="$3" --port="$4" --protocol=tcp --connect-timeout=1 \
  --batch --skip-column-names --execute="SELECT @@global.read_only = 0 AND (@@global.wsrep_on = 0 OR EXISTS (
    SELECT 1 FROM information_schema.global_status WHERE variable_name = 'wsrep_local_state' AND variable_value = '4'))")
[ "$answer" = 1 ]
