// Extracts strict JSON Schemas of the kinds in deploy/k8s from a version of Kubernetes' OpenAPI
// document. The npm packages cdk8s-plus-30, -31 … have the document of one version each, in jsii's
// form. For another version:
//   tar xzf "$(npm pack --silent cdk8s-plus-34)"
//   node scripts/build/kubernetes-schemas.ts package/.jsii \
//     tests/deploy/kubernetes/schemas/v1.34.json
import { readFileSync, writeFileSync } from 'node:fs';

type Type = {
  primitive?: string;
  fqn?: string;
  collection?: { kind: 'array' | 'map'; elementtype: Type };
};
type Property = { optional?: true; type: Type; docs: { custom: { schema: string } } };
type Declared = { kind: string; properties?: Property[]; docs?: { custom?: { schema?: string } } };

const kinds = [
  ...['v1/ConfigMap', 'v1/Namespace', 'v1/PersistentVolumeClaim', 'v1/Secret', 'v1/Service', 'v1/ServiceAccount'],
  ...['apps/v1/Deployment', 'apps/v1/StatefulSet', 'autoscaling/v2/HorizontalPodAutoscaler', 'batch/v1/CronJob'],
  ...['networking.k8s.io/v1/Ingress', 'networking.k8s.io/v1/NetworkPolicy', 'policy/v1/PodDisruptionBudget'],
];

const [from, to] = process.argv.slice(2);
if (!from || !to) {
  console.error('Usage: node scripts/build/kubernetes-schemas.ts package/.jsii FILE.json');
  process.exit(2);
}
const assembly = JSON.parse(readFileSync(from, 'utf8')) as { name: string; types: Record<string, Declared> };
const definitions: Record<string, object> = {};

for (const kind of kinds) {
  const names = kind.split('/');
  const [name, version, group = 'core'] = names.reverse() as [string, string, string?];
  const official = `io.k8s.api.${group.split('.')[0]}.${version}.${name}`;
  const declared = Object.values(assembly.types).find(
    ({ kind, docs }) => kind === 'interface' && docs?.custom?.schema === official,
  );
  if (!declared) throw new Error(`${from} has no ${official}.`);
  const schema = schemaOfObject(declared);
  schema.properties.apiVersion = { const: kind.slice(0, kind.lastIndexOf('/')) };
  schema.properties.kind = { const: name };
  schema.required.push('apiVersion', 'kind');
  definitions[kind] = schema;
}
const $comment = `Kubernetes' OpenAPI document (Apache-2.0), cut by scripts/build/kubernetes-schemas.ts from ${assembly.name}.`;
const sorted = Object.fromEntries(Object.entries(definitions).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(to, `${JSON.stringify({ $comment, definitions: sorted })}\n`);

function schemaOfObject(declared: Declared) {
  const own = declared.properties ?? [];
  // The names that jsii gives are not always those of the document: clusterIp, clusterIP.
  const nameOf = (property: Property) => property.docs.custom.schema.split('#')[1] as string;
  return {
    type: 'object',
    additionalProperties: false,
    required: own.filter(({ optional }) => !optional).map(nameOf),
    properties: Object.fromEntries(own.map((property) => [nameOf(property), schemaOf(property.type)])) as Record<
      string,
      object
    >,
  };
}

function schemaOf({ primitive, collection, fqn }: Type): object {
  if (collection?.kind === 'array') return { type: 'array', items: schemaOf(collection.elementtype) };
  if (collection) return { type: 'object', additionalProperties: schemaOf(collection.elementtype) };
  if (fqn) return reference(fqn);
  if (primitive === 'any' || primitive === 'json') return {};
  return { type: primitive === 'date' ? 'string' : primitive };
}

function reference(fqn: string): object {
  const declared = assembly.types[fqn] as Declared;
  if (declared.kind === 'enum') return { type: 'string' };
  if (declared.kind === 'class') return { type: ['string', 'number'] }; // IntOrString, Quantity
  const name = declared.docs?.custom?.schema ?? fqn;
  if (!(name in definitions)) {
    definitions[name] = {}; // it may be recursive
    definitions[name] = schemaOfObject(declared);
  }
  return { $ref: `#/definitions/${name}` };
}
