// Kinds that aren't Kubernetes' own: the parts that the manifests use, as strict schemas, from
// their reference documentation: cert-manager.io/v1, gateway.networking.k8s.io/v1 (1.2),
// monitoring.coreos.com/v1. The API server would drop an unknown field; here it fails.

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
const resource = (apiVersion: string, kind: string, spec: object) => ({
  [`${apiVersion}/${kind}`]: object({ apiVersion: { const: apiVersion }, kind: { const: kind }, metadata, spec }),
});
const list = (items: object) => ({ type: 'array', minItems: 1, items });
const labels = { type: 'object', minProperties: 1, additionalProperties: text };
// Of the Gateway API and of Prometheus.
const time = { type: 'string', pattern: '^\\d{1,5}(s|m|h)$' };
// As Go reads it; it has no days or weeks.
const duration = { type: 'string', pattern: '^(\\d+h)?(\\d+m)?(\\d+s)?$', minLength: 2 };

/** By `apiVersion/kind`, like the schemas of Kubernetes' own kinds. */
export const customSchemas: Record<string, object> = {
  ...resource('cert-manager.io/v1', 'Issuer', {
    ...object({ selfSigned: object({}), ca: object({ secretName: text }) }, []),
    minProperties: 1,
    maxProperties: 1,
  }),
  ...resource(
    'cert-manager.io/v1',
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
  ...resource(
    'gateway.networking.k8s.io/v1',
    'HTTPRoute',
    object({
      parentRefs: list(object({ name: text, namespace: text, sectionName: text }, ['name'])),
      hostnames: list({ type: 'string', pattern: '^[a-z0-9.-]+$' }),
      rules: list(
        object({
          matches: list(object({ path: object({ type: { enum: ['PathPrefix', 'Exact'] }, value: text }) })),
          backendRefs: list(object({ name: text, port: { type: 'integer' } })),
          timeouts: object({ request: time, backendRequest: time }),
        }),
      ),
    }),
  ),
  ...resource(
    'monitoring.coreos.com/v1',
    'ServiceMonitor',
    object({
      jobLabel: text,
      selector: object(
        {
          matchLabels: labels,
          matchExpressions: list(object({ key: text, operator: { const: 'In' }, values: list(text) })),
        },
        [],
      ),
      endpoints: list(
        object(
          {
            port: text,
            interval: time,
            scheme: { enum: ['http', 'https'] },
            tlsConfig: object({ insecureSkipVerify: { type: 'boolean' } }),
          },
          ['port'],
        ),
      ),
    }),
  ),
  ...resource(
    'monitoring.coreos.com/v1',
    'PrometheusRule',
    object({
      groups: list(
        object({
          name: text,
          rules: list(
            object({ alert: text, expr: text, for: time, labels, annotations: labels }, [
              'alert',
              'expr',
              'labels',
              'annotations',
            ]),
          ),
        }),
      ),
    }),
  ),
};
