/** The form in which names of columns are compared: accents composed (Macs take them apart), no blanks around, case ignored. */
export const foldName = (name: string): string => name.normalize('NFC').trim().toLowerCase();
