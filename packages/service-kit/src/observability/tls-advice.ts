// What to do about a TLS connection that did not come about, for the line of the log that tells of it. OpenSSL's words say what is
// wrong, not where to mend it.

const untrusted =
  "Nobody who is trusted here vouches for the server's certificate. Name the file with its authority in the server's URL (sslrootcert for PostgreSQL, ca_file for others; between services ALMANAC_RPC_TLS_CA_FILE). If it is named, something else answers there.";
const expired =
  'The certificate of the other side has ended: renew it there. If it has not, the clock of this machine is wrong.';
const ours =
  'The other side does not take our certificate: it wants one of an authority in its own file of authorities, and not expired.';

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

// gRPC, mail and HTTP tell the words alone.
const byWords: [RegExp, string][] = [
  [/unable to (verify the first|get local issuer) certificate|self[- ]signed certificate/, untrusted],
  [/wrong version number/, advice.ERR_SSL_WRONG_VERSION_NUMBER as string],
  [/certificate has expired|certificate is not yet valid/, expired],
  [/ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames/, advice.ERR_TLS_CERT_ALTNAME_INVALID as string],
];

/** A sentence or two, or nothing when the error isn't about TLS. */
export function findTlsAdvice({ code, message }: { code?: unknown; message: string }): string | undefined {
  if (typeof code === 'string' && Object.hasOwn(advice, code)) return advice[code];
  return byWords.find(([words]) => words.test(message))?.[1];
}
