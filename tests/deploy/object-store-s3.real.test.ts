// The object store against a real S3 at ALMANAC_TEST_S3_URL (scripts/servers/ceph-rgw.sh starts a
// Ceph RGW).
import { createObjectStore } from '../../services/jobs/src/files/object-store/create-object-store.ts';
import { describeObjectStore } from '../../services/jobs/src/files/object-store/object-store.suite.ts';
import type { ObjectStore } from '../../services/jobs/src/files/object-store/object-store.ts';

const name = 'ALMANAC_TEST_S3_URL';
let store: ObjectStore;

beforeAll(async () => {
  const url = process.env[name];
  if (!url)
    throw new Error(`${name} is missing: this suite needs an S3 (scripts/servers/ceph-rgw.sh start DIR PORT PORT).`);
  store = await createObjectStore({ url, publicUrl: 'http://127.0.0.1' });
  await store.start();
});

afterAll(async () => {
  await store?.stop();
});

describeObjectStore('s3://', () => store);
