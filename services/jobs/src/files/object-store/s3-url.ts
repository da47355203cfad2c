// The URL of an S3 store. Apart from the store, whose client is loaded where there is one.
import { readCaFile } from '@almanac/service-kit/config/ca-file';

export type S3Options = {
  endPoint: string;
  port?: number;
  tls: boolean;
  accessKey: string;
  secretKey: string;
  bucket: string;
  region: string;
  /** A file with the authorities of the server, if they are not publicly known ones. */
  caFile?: string;
  /** Where clients reach the bucket, if not at `endPoint`. */
  publicUrl?: string;
};

/**
 * Reads `s3://KEY:SECRET@host:port/bucket?tls=false&region=…&ca_file=…&public_url=https://…`;
 * `https://…` is the same with TLS. Throws an error that names the problem without the URL's
 * secrets.
 */
export function readS3Url(text: string): S3Options {
  const url = new URL(text);
  const bucket = url.pathname.replace(/^\/|\/$/g, '');
  if (!url.hostname || !url.username || !url.password || !/^[a-z0-9][a-z0-9.-]{2,62}$/.test(bucket))
    throw new Error('use s3://KEY:SECRET@host:port/bucket');
  const options: S3Options = {
    endPoint: url.hostname,
    tls: url.protocol === 'https:' || url.searchParams.get('tls') !== 'false',
    accessKey: decodeURIComponent(url.username),
    secretKey: decodeURIComponent(url.password),
    bucket,
    region: url.searchParams.get('region') ?? 'us-east-1',
  };
  if (url.port) options.port = Number(url.port);
  const caFile = readCaFile(url);
  if (caFile && !options.tls) throw new Error('ca_file and tls=false exclude each other');
  if (caFile) options.caFile = caFile;
  const publicUrl = url.searchParams.get('public_url');
  if (publicUrl) {
    if (!URL.canParse(publicUrl)) throw new Error('public_url is not a URL');
    options.publicUrl = publicUrl;
  }
  return options;
}
