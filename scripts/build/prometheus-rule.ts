// `npm run prometheus-rule`: writes deploy/observability/prometheus-rule.yaml, the alert rules of
// prometheus-rules.yml as the Prometheus operator takes them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '../../deploy/observability');
const rules = readFileSync(join(folder, 'prometheus-rules.yml'), 'utf8');
const groups = rules.slice(rules.indexOf('groups:'));
writeFileSync(
  join(folder, 'prometheus-rule.yaml'),
  `# Made of prometheus-rules.yml by npm run prometheus-rule.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: { name: almanac, labels: { app.kubernetes.io/part-of: almanac } }
spec:
${groups.replaceAll(/^(?=.)/gm, '  ')}`,
);
