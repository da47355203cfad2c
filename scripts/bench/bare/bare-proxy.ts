// The yardstick of the gateway: express with http-proxy-middleware in front of the service, over kept connections. No token, no
// scopes, no counting, no limits, no log.
import { Agent } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';

const app = express();
app.disable('x-powered-by').disable('etag');
app.use(createProxyMiddleware({ target: process.argv[2] as string, agent: new Agent({ keepAlive: true }) }));
const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
server.keepAliveTimeout = 60_000;
process.on('disconnect', () => process.exit(0));
