// Advice for the log about a failed TLS connection. OpenSSL's messages say what is wrong, not where
// to fix it.

const untrusted =
  "No trusted authority has issued the server's certificate. Name the file with its authority in the server's URL (sslrootcert for PostgreSQL, ca_file for others; between services ALMANAC_RPC_TLS_CA_FILE). If it is named, another server answers there.";
const expired =
  'The certificate of the other side has expired: renew it there. If it has not, the clock of this machine is wrong.';
const ours =
  'The other side refuses the certificate of this service: it needs one that is not expired, of an authority in its own file.';

const advice: Record<string, string> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: expired,
  CERT_NOT_YET_VALID: expired,
  ERR_TLS_CERT_ALTNAME_INVALID:
    "The server's certificate is for other names than the one in its URL: use one of those, or issue it a certificate for this one.",
  ERR_SSL_WRONG_VERSION_NUMBER:
    'What answers at this port does not speak TLS: use its TLS port, or the URL without TLS.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG:
    'What answers at this port does not speak TLS: use its TLS port, or the URL without TLS.',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: ours,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: ours,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: ours,
};

// Errors of gRPC, mail and HTTP have a message only.
const byMessage: [RegExp, string][] = [
  [/unable to (verify the first|get local issuer) certificate|self[- ]signed certificate/, untrusted],
  [/wrong version number/, advice.ERR_SSL_WRONG_VERSION_NUMBER as string],
  [/certificate has expired|certificate is not yet valid/, expired],
  [/ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/, advice.ERR_TLS_CERT_ALTNAME_INVALID as string],
];

/** A sentence or two; undefined when the error isn't about TLS. */
export function findTlsAdvice({ code, message }: { code?: unknown; message: string }): string | undefined {
  if (typeof code === 'string' && Object.hasOwn(advice, code)) return advice[code];
  return byMessage.find(([pattern]) => pattern.test(message))?.[1];
}
