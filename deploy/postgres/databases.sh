#!/bin/bash
# Makes a database and a role for each service, in a PostgreSQL that starts for the first time. The
# role owns its database and can do nothing else, so what breaks one service opens no other.
set -euo pipefail

for service in identity metadata data jobs billing; do
  password=${service^^}_DATABASE_PASSWORD
  psql --username "${POSTGRES_USER:-postgres}" --dbname postgres --quiet --set ON_ERROR_STOP=1 \
    --set name="almanac_$service" --set password="${!password:?}" << 'SQL'
create role :"name" login nosuperuser nocreatedb nocreaterole noreplication password :'password';
create database :"name" owner :"name" template template0 encoding 'UTF8';
revoke all on database :"name" from public;
SQL
done
