import { useEffect, useState } from 'react';

const hasPainted = () => performance.getEntriesByType('paint').length > 0;

/**
 * Whether the browser has painted something of the page. What takes long to mount waits for that
 * when the console is opened, so that the frame around it is seen first.
 */
export function useHasPainted(): boolean {
  const [isPainted, setIsPainted] = useState(hasPainted);
  useEffect(() => {
    if (isPainted) return;
    // A task after the frame that is about to be painted.
    const frame = requestAnimationFrame(() => setTimeout(() => setIsPainted(true)));
    return () => cancelAnimationFrame(frame);
  }, [isPainted]);
  return isPainted;
}
