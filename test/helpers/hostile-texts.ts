// Texts that would do harm if they were ever taken for anything but texts.

/** Each would drop the table `victim`, end a statement, or confuse code that quotes or formats it. */
export const hostileTexts: readonly string[] = [
  `'; drop table victim; --`,
  `"; drop table victim; --`,
  `\\'; drop table victim; --`,
  `\\"); drop table victim; --`,
  `$$; drop table victim; $$`,
  `E'\\047; drop table victim; --`,
  `' || (select pg_sleep(600)) || '`,
  `"public"."victim"`,
  `/* */ drop table victim /*`,
  `%I %L %s %1$s`,
  `$1 $2`,
  `{table} {file} \${process.exit(9)}`,
  `\\.`,
  `\\N`,
  `null`,
  `ünïcode 🐘 ﷽ 表`,
  `\u202Etxet\u202C`,
  `zero\u200Bwidth`,
  `tab\tand\u0001control`,
  `toString`,
  `__proto__`,
];

/** What no PostgreSQL text can hold. */
export const unstorable = `nul \0, lone \ud800 and \udc00`;

/** Longer than a name of PostgreSQL, in bytes before characters. */
export const longName = 'ü'.repeat(40);
