const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'];

/** The size of a file, in units of a thousand: `126 kB`, `1.2 MB`. */
export function sizeText(bytes: number, locale: string): string {
  const power = bytes < 1_000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1_000 ** power;
  const maximumFractionDigits = power === 0 || value >= 10 ? 0 : 1;
  const unit = units[power] as string;
  const unitDisplay = power === 0 ? 'long' : 'short';
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay, maximumFractionDigits }).format(value);
}
