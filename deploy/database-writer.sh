#!/bin/sh
# HAProxy's check of a database server (haproxy-database.cfg): well if it takes writes, and as a node of Galera is in its cluster.
# HAProxy passes the addresses of the proxy and of the server. The account needs no rights: CREATE USER 'check'@'%' …
mariadb --defaults-file=/etc/haproxy/database.cnf --host="$3" --port="$4" --protocol=tcp --connect-timeout=1 \
  --batch --skip-column-names --execute="SHOW GLOBAL VARIABLES WHERE variable_name IN ('read_only', 'wsrep_on');
    SHOW GLOBAL STATUS LIKE 'wsrep_local_state'" |
  awk '{ is[$1] = $2 } END { exit !(is["read_only"] == "OFF" && (is["wsrep_on"] != "ON" || is["wsrep_local_state"] == 4)) }'
