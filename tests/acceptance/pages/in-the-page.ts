// Checks that run in the page itself: these functions are sent to the browser, so each holds all it
// needs.

// The part of the DOM they use; the rest of the repository has Node's types alone.
type Element = {
  textContent: string | null;
  outerHTML: string;
  parentElement: Element | null;
  childNodes: Iterable<{ nodeType: number; textContent: string | null }>;
  getAttribute(name: string): string | null;
  getBoundingClientRect(): { width: number; height: number };
};
declare const document: {
  activeElement: Element | null;
  documentElement: { clientWidth: number; scrollWidth: number };
  querySelectorAll(selector: string): Iterable<Element>;
};
declare function getComputedStyle(element: Element): { color: string; backgroundColor: string };

/** What has the focus: its text, or the name of a field. */
export function focused(): string | null | undefined {
  return document.activeElement?.textContent?.trim() || document.activeElement?.getAttribute('name');
}

/** What the fields tell a password manager, in their order. */
export function autocompletes(): (string | null)[] {
  return [...document.querySelectorAll('input:not([type=hidden])')].map((each) => each.getAttribute('autocomplete'));
}

/** Each text with the contrast between its colour and what is behind it (WCAG 2, 1.4.3). */
export function contrasts(): { text: string; contrast: number }[] {
  const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (color: string) => {
    const [r = 0, g = 0, b = 0] = channels(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element: Element | null): string => {
    if (!element) return 'rgb(255, 255, 255)';
    const color = getComputedStyle(element).backgroundColor;
    return (channels(color)[3] ?? 1) === 0 ? behind(element.parentElement) : color;
  };
  const withText = [...document.querySelectorAll('body *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent?.trim()),
  );
  return withText.map((element) => {
    const [one, other] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return { text: element.textContent?.trim().slice(0, 60) ?? '', contrast };
  });
}

/**
 * Elements wider than the window, and buttons or fields too small to hit (WCAG 2.2, 1.4.10 and
 * 2.5.8; links in a sentence may be).
 */
export function misfits(): string[] {
  const { clientWidth, scrollWidth } = document.documentElement;
  const small = [...document.querySelectorAll('button:not(.plain), input:not([type=hidden])')].filter((element) => {
    const { width, height } = element.getBoundingClientRect();
    return width < 24 || height < 24;
  });
  return [...(scrollWidth > clientWidth ? [`${scrollWidth} wide`] : []), ...small.map((element) => element.outerHTML)];
}
