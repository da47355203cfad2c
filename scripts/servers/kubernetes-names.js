// The name server of kubernetes.sh: A records of Services by Kubernetes' DNS specification, read
// from the API for each question. A Service has its address, a headless one those of its ready
// pods, also under their host names. Other names are NXDOMAIN.
//   node kubernetes-names.js ADDRESS https://API TOKEN
import dgram from 'node:dgram';
import https from 'node:https';

const [address, api, token] = process.argv.slice(2);
const ttlSeconds = 5;

/** The object at a path of the API; undefined when there is none. */
function get(path) {
  const options = { rejectUnauthorized: false, headers: { Authorization: `Bearer ${token}` }, timeout: 5_000 };
  return new Promise((done, fail) => {
    const request = https.get(new URL(path, api), options, async (answer) => {
      const text = (await answer.toArray()).join('');
      done(answer.statusCode === 200 ? JSON.parse(text) : undefined);
    });
    request.on('error', fail).on('timeout', () => request.destroy(new Error('The API does not answer.')));
  });
}

async function addressesOf(name) {
  const [, host, service, namespace] = /^(?:([^.]+)\.)?([^.]+)\.([^.]+)\.svc\.cluster\.local$/.exec(name) ?? [];
  if (!service) return undefined;
  const place = `/api/v1/namespaces/${namespace}`;
  const found = await get(`${place}/services/${service}`);
  if (!found) return undefined;
  if (!host && found.spec.clusterIP !== 'None') return [found.spec.clusterIP];
  const endpoints = await get(`${place}/endpoints/${service}`);
  const ready = (endpoints?.subsets ?? []).flatMap(({ addresses }) => addresses ?? []);
  const meant = host ? ready.filter(({ hostname }) => hostname === host) : ready;
  return meant.length > 0 ? meant.map(({ ip }) => ip) : undefined;
}

// RFC 1035, 4.1: a header of twelve bytes, then the question; answers point back to its name.
function readQuestion(message) {
  const labels = [];
  let place = 12;
  while (message[place] > 0) {
    labels.push(message.toString('latin1', place + 1, place + 1 + message[place]));
    place += 1 + message[place];
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(place + 1),
    bytes: message.subarray(12, place + 5),
  };
}

function answer(message, question, addresses) {
  const answers = question.type === 1 ? (addresses ?? []) : [];
  const header = Buffer.alloc(12);
  message.copy(header, 0, 0, 2);
  header.writeUInt16BE(addresses ? 0x8580 : 0x8583, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  const records = answers.map((ip) => {
    const record = Buffer.alloc(16);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(1, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt32BE(ttlSeconds, 6);
    record.writeUInt16BE(4, 10);
    record.set(ip.split('.').map(Number), 12);
    return record;
  });
  return Buffer.concat([header, question.bytes, ...records]);
}

const server = dgram.createSocket('udp4');
server.on('message', async (message, { port, address: from }) => {
  try {
    const question = readQuestion(message);
    server.send(answer(message, question, await addressesOf(question.name)), port, from);
  } catch (error) {
    console.error(error.message); // the client repeats its question
  }
});
server.bind(53, address);
