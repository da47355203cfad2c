/** Lets the browser save a file. Its signed address says under which name, and opens no page. */
export function startDownload(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.rel = 'noreferrer';
  link.click();
}
