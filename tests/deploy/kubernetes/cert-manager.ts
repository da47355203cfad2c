// The part of cert-manager's API that the manifests use, as a strict schema: cert-manager.io/v1,
// from its reference documentation. The API server would drop an unknown field; here it fails.

const text = { type: 'string', minLength: 1 };
const metadata = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: { name: text, namespace: text, labels: { type: 'object', additionalProperties: text } },
};
const object = (properties: Record<string, object>, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const resource = (kind: string, spec: object) =>
  object({ apiVersion: { const: 'cert-manager.io/v1' }, kind: { const: kind }, metadata, spec });
// As Go reads it; it has no days or weeks.
const duration = { type: 'string', pattern: '^(\\d+h)?(\\d+m)?(\\d+s)?$', minLength: 2 };

/** By `apiVersion/kind`, like the schemas of Kubernetes' own kinds. */
export const certManagerSchemas: Record<string, object> = {
  'cert-manager.io/v1/Issuer': resource('Issuer', {
    ...object({ selfSigned: object({}), ca: object({ secretName: text }) }, []),
    minProperties: 1,
    maxProperties: 1,
  }),
  'cert-manager.io/v1/Certificate': resource(
    'Certificate',
    object(
      {
        secretName: text,
        commonName: text,
        isCA: { type: 'boolean' },
        dnsNames: { type: 'array', minItems: 1, items: text },
        usages: {
          type: 'array',
          items: { enum: ['digital signature', 'key encipherment', 'server auth', 'client auth'] },
        },
        duration,
        renewBefore: duration,
        privateKey: object({
          algorithm: { enum: ['RSA', 'ECDSA', 'Ed25519'] },
          size: { type: 'integer' },
          rotationPolicy: { enum: ['Never', 'Always'] },
        }),
        issuerRef: object({ name: text, kind: { enum: ['Issuer', 'ClusterIssuer'] } }),
      },
      ['secretName', 'issuerRef'],
    ),
  ),
};
