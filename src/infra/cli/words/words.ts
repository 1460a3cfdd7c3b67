import type { Language } from '../settings.js';
import { english, englishReasons, type Texts } from './en.js';
import { englishHelp, englishOptions } from './help-en.js';
import type { HelpPage } from './help-page.js';
import { chinese, chineseReasons } from './zh.js';
import { chineseHelp, chineseOptions, chineseTitles } from './help-zh.js';

/** All words around the data. */
export interface Words {
  readonly language: Language;
  readonly text: Texts;
  readonly help: (key: string) => HelpPage;
  /** Words of an option of a command, by its flags. */
  readonly option: (key: string, flags: string) => string;
  readonly helpTitle: (title: string) => string;
  /** Why a message is in a context or out of it; an unknown reason is shown as it is. */
  readonly reason: (disposition: string) => string;
  readonly number: (value: number) => string;
}

interface Tables {
  readonly text: Texts;
  readonly reasons: Readonly<Record<string, string>>;
  readonly help: Readonly<Record<string, HelpPage>>;
  readonly options: Readonly<Record<string, string>>;
  readonly titles: Readonly<Record<string, string>>;
}

const tables: Readonly<Record<Language, Tables>> = {
  en: {
    text: english,
    reasons: englishReasons,
    help: englishHelp,
    options: englishOptions,
    titles: {},
  },
  zh: {
    text: chinese,
    reasons: chineseReasons,
    help: chineseHelp,
    options: chineseOptions,
    titles: chineseTitles,
  },
};

const found = <A>(table: Readonly<Record<string, A>>, key: string): A | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** The long name in flags such as `-o, --output <file>`. */
const longName = (flags: string): string => /--([a-z-]+)/.exec(flags)?.[1] ?? flags;

export const wordsIn = (language: Language): Words => {
  const { text, reasons, help, options, titles } = tables[language];
  const numbers = new Intl.NumberFormat(language === 'zh' ? 'zh-CN' : 'en-US');
  return {
    language,
    text,
    help: (key) => found(help, key) ?? { summary: '', examples: [] },
    option: (key, flags) => {
      const name = longName(flags);
      return found(options, `${key} ${name}`) ?? found(options, name) ?? '';
    },
    helpTitle: (title) => found(titles, title) ?? title,
    reason: (disposition) => found(reasons, disposition) ?? disposition,
    number: (value) => numbers.format(value),
  };
};
