// Asks this container's service whether its process is alive; for Docker and Compose. Kubernetes asks by itself.
const name = process.env.ALMANAC_SERVICE;
const usual = 8080 + ['gateway', 'identity', 'metadata', 'data', 'jobs', 'billing'].indexOf(name);
const port = process.env[`${name.toUpperCase()}_HTTP_PORT`] || usual;
const answer = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(4_000) });
if (!answer.ok) process.exitCode = 1;
