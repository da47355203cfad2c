// The S3 adapter of the object store against a real server. A missing address is a failure, not a skip.

import type { ObjectStore } from '@almanac/jobs/object-store/object-store';
import { describeObjectStore } from '@almanac/jobs/object-store/object-store.suite';
import { createS3Store, readS3Url } from '@almanac/jobs/object-store/s3-store';

const url = process.env.ALMANAC_TEST_S3_URL;
let store: ObjectStore;

beforeAll(async () => {
  if (!url) throw new Error('ALMANAC_TEST_S3_URL is not set: s3://KEY:SECRET@host:port/bucket?tls=false');
  store = createS3Store(readS3Url(url));
  await store.start();
});

describeObjectStore('s3://', () => store);
