// Warns on the console while the disk of the system's folder is almost full: PostgreSQL refuses
// writes, and stops, when it is.
import { statfs } from 'node:fs/promises';

const megabyte = 1024 * 1024;
const lowBytes = 200 * megabyte;
const enoughBytes = 300 * megabyte;
const everyMs = 10_000;

/** The bytes that are free for this process on the disk of the folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Returns a function that takes the free bytes of each check, and says when they become few, and
 * when they are enough again.
 */
export function watchFreeSpace(folder: string, say: (name: string, message: string) => void): (free: number) => void {
  let isLow = false;
  return (free) => {
    if (!isLow && free < lowBytes) {
      isLow = true;
      const left = Math.floor(free / megabyte);
      say('disk', `${left} MB are left for ${folder}. Free some space: without it nothing can be written.`);
    } else if (isLow && free >= enoughBytes) {
      isLow = false;
      say('disk', `there is space for ${folder} again`);
    }
  };
}

/** Checks at intervals until the returned function is called. */
export function checkFreeSpace(folder: string, say: (name: string, message: string) => void): () => void {
  const watch = watchFreeSpace(folder, say);
  const check = () => void freeBytes(folder).then(watch, () => {}); // no such call on some file systems
  check();
  const timer = setInterval(check, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
