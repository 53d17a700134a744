// Quotes that stand where they may not, or are never closed: what they cost.

import type { SplitCase } from './splitter-cases.ts';

export const faultCases: readonly SplitCase[] = [
  {
    name: 'a stray quote costs its record',
    input: 'a"b,c\nd,e\n',
    records: ['a"b,c@0:1!quote', 'd,e@6:2'],
    endLine: 3,
  },
  {
    name: 'two stray quotes cost a record each',
    input: 'a"b,c\nd"e,f\ng,h\n',
    records: ['a"b,c@0:1!quote', 'd"e,f@6:2!quote', 'g,h@12:3'],
    endLine: 4,
  },
  {
    name: 'a pair of stray quotes costs its record',
    input: '5" pipe,6" pipe\nc,d\n',
    records: ['5" pipe,6" pipe@0:1!quote', 'c,d@16:2'],
    endLine: 3,
  },
  {
    name: 'text behind a closing quote costs its record',
    input: '"a"b,c\nd,e\n',
    records: ['"a"b,c@0:1!quote', 'd,e@7:2'],
    endLine: 3,
  },
  {
    name: 'a blank behind a closing quote costs its record',
    input: '"a" ,c\nd,e\n',
    records: ['"a" ,c@0:1!quote', 'd,e@7:2'],
    endLine: 3,
  },
  {
    name: 'a quote behind a blank is stray',
    input: ' "a\nb",c\n',
    records: [' "a@0:1!quote', 'b",c@4:2!quote'],
    endLine: 3,
  },
  {
    name: 'with trim, a quote may stand behind blanks',
    input: ' \t"a\nb"\t ,c\nd,e\n',
    options: { trim: true },
    records: [' \t"a\nb"\t ,c@0:1', 'd,e@12:3'],
    endLine: 4,
  },
  {
    name: 'with trim, text behind blanks behind a quote is a fault',
    input: '"a" b,c\n',
    options: { trim: true },
    records: ['"a" b,c@0:1!quote'],
    endLine: 2,
  },
  {
    name: 'with trim, a quote behind text is stray',
    input: 'a "b",c\n',
    options: { trim: true },
    records: ['a "b",c@0:1!quote'],
    endLine: 2,
  },
  {
    name: 'a quote that is never closed costs its line',
    input: 'a,b\n"c,d\ne,f\ng,h',
    records: ['a,b@0:1', '"c,d@4:2!quote', 'e,f@9:3', 'g,h@13:4'],
    endLine: 4,
  },
  {
    name: 'a quote that is never closed in the last line',
    input: 'a,b\nc,"',
    records: ['a,b@0:1', 'c,"@4:2!quote'],
    endLine: 2,
  },
  {
    name: 'an escape at the end closes nothing',
    input: '"a\\"',
    options: { escape: '\\' },
    records: ['"a\\"@0:1!quote'],
    endLine: 1,
  },
];
