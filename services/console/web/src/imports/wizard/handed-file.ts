// A file that another page hands to the wizard: one dropped on a table, or pasted there.
let handed: File | undefined;

/** Hands over a file, before going to `/import?table=key&step=columns`. */
export function handFile(file: File): void {
  handed = file;
}

/** The file that was handed over. It stays until the next one, so that rendering twice is safe. */
export function handedFile(): File | undefined {
  return handed;
}

export function dropHandedFile(): void {
  handed = undefined;
}
