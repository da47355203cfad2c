/**
 * The form in which column names are compared: accents composed (macOS decomposes them), trimmed,
 * lower case.
 */
export const foldName = (name: string): string => name.normalize('NFC').trim().toLowerCase();
