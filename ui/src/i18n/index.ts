/** Texts in every language, side by side: a text without a language does not compile. */
import { createContext, useContext } from "react";

export const LANGUAGES = {
  en: "English",
  "zh-CN": "简体中文",
  ko: "한국어",
} as const;

export type Language = keyof typeof LANGUAGES;

type Phrase = string | ((...values: never[]) => string);
type InEveryLanguage<P extends Phrase> = Readonly<Record<Language, P>>;
export type Texts = Readonly<Record<string, InEveryLanguage<Phrase>>>;
type Widened<P> = P extends string ? string : P;
export type InOneLanguage<T extends Texts> = {
  readonly [K in keyof T]: Widened<T[K]["en"]>;
};

/** Declare the texts of a screen; functions take what is filled in. */
export function defineTexts<T extends Texts>(texts: T): T {
  return texts;
}

export function isLanguage(value: string | null | undefined): value is Language {
  return value != null && value in LANGUAGES;
}

const KEPT_UNDER = "accordance.language";

/** The language that was chosen, or else that of the browser. */
export function firstLanguage(): Language {
  const chosen = localStorage.getItem(KEPT_UNDER);
  if (isLanguage(chosen)) return chosen;
  for (const wanted of navigator.languages) {
    if (wanted.startsWith("zh")) return "zh-CN";
    if (wanted.startsWith("ko")) return "ko";
    if (wanted.startsWith("en")) return "en";
  }
  return "en";
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(KEPT_UNDER, language);
  document.documentElement.lang = language;
}

export interface LanguageChoice {
  readonly language: Language;
  readonly choose: (language: Language) => void;
}

export const LanguageContext = createContext<LanguageChoice>({
  language: "en",
  choose: () => undefined,
});

export function useLanguage(): LanguageChoice {
  return useContext(LanguageContext);
}

/** The texts of a screen in the language of the page. */
export function useTexts<T extends Texts>(texts: T): InOneLanguage<T> {
  const { language } = useLanguage();
  return inLanguage(texts, language);
}

const known = new WeakMap<object, Map<Language, unknown>>();

export function inLanguage<T extends Texts>(texts: T, language: Language): InOneLanguage<T> {
  let byLanguage = known.get(texts);
  if (byLanguage === undefined) {
    byLanguage = new Map();
    known.set(texts, byLanguage);
  }
  let chosen = byLanguage.get(language);
  if (chosen === undefined) {
    const entries = Object.entries(texts).map(([key, text]) => [key, text[language]]);
    chosen = Object.fromEntries(entries);
    byLanguage.set(language, chosen);
  }
  return chosen as InOneLanguage<T>;
}
