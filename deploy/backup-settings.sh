# Sourced by backup.sh and restore.sh: the settings of the service as $database, $account, $storage, $bucket and $aws.
if [ -z "${DB_HOST:-}" ] && [ -f .env ]; then set -a; . ./.env; set +a; fi
database=${DB_NAME:-back_office}${TENANT_CODE:+_${TENANT_CODE//-/_}}
storage=$(realpath -m "${STORAGE_ROOT:-storage}/${TENANT_CODE:-}")
bucket=s3://${S3_BUCKET:-}/${TENANT_CODE:+$TENANT_CODE/}
export AWS_ACCESS_KEY_ID=${S3_ACCESS_KEY_ID:-} AWS_SECRET_ACCESS_KEY=${S3_SECRET_ACCESS_KEY:-}
export AWS_DEFAULT_REGION=${S3_REGION:-us-east-1}
aws=(aws ${S3_ENDPOINT:+--endpoint-url "$S3_ENDPOINT"})
# In a file, because process lists show arguments.
account=$(mktemp)
trap 'rm -f "$account"' EXIT
{
  printf '[client]\nprotocol=tcp\nhost="%s"\nport=%s\n' "${DB_HOST:-127.0.0.1}" "${DB_PORT:-3306}"
  printf 'user="%s"\npassword="%s"\n' "${DB_USER:-root}" "${DB_PASSWORD:-}"
  if [ "${DB_TLS:-false}" = true ]; then
    printf 'ssl-ca=%s\nloose-ssl-verify-server-cert\nloose-ssl-mode=VERIFY_IDENTITY\n' \
      "${DB_TLS_CA:-/etc/ssl/certs/ca-certificates.crt}"
  fi
} > "$account"
