// The names that an author meets in an editor: what modules export, and the members that are reached from there.

import { dirname, relative } from 'node:path';
import { isMappedTypeNode } from 'typescript/unstable/ast/is';
import {
  API,
  SignatureKind,
  SymbolFlags,
  type Checker,
  type Symbol,
  type Type,
} from 'typescript/unstable/sync';

export interface PublicName {
  /** An export, or a member after the type or export that has it: `RunOptions.workers`. */
  readonly name: string;
  /** What an editor shows on hover, below the type. */
  readonly documentation: string;
}

/** An object type without a name of its own, and each item of a list, is called after the member that has it. */
const nameOf = (type: Type, otherwise: string): string => {
  const name = (type.getAliasSymbol() ?? type.getSymbol())?.name ?? '';
  return /^(?!(?:Readonly)?Array$|Promise$)[A-Za-z]/.test(name) ? name : otherwise;
};

/** What the members of a mapped type are, for keys that only the caller of a generic function knows. */
const templatesOf = (checker: Checker, type: Type): readonly Type[] =>
  (type.getSymbol()?.declarations ?? [])
    .map((declared) => declared.resolve())
    .flatMap((node) =>
      node !== undefined && isMappedTypeNode(node) && node.type !== undefined
        ? [checker.getTypeFromTypeNode(node.type)!]
        : [],
    );

/** Types that a type is made of. Of a library's type only its arguments are ours. */
const partsOf = (checker: Checker, type: Type): readonly Type[] => [
  ...(type.isUnionType() || type.isIntersectionType() ? type.getTypes() : []),
  ...(type.isTypeReference() ? checker.getTypeArguments(type) : []),
  ...type.getAliasTypeArguments(),
  ...(type.isObjectType() ? templatesOf(checker, type) : []),
  ...(type.isTypeParameter() ? [checker.getConstraintOfTypeParameter(type) ?? type] : []),
  ...(type.isConditionalType() ? [type.getTrueType(), type.getFalseType()] : []),
  ...[SignatureKind.Call, SignatureKind.Construct]
    .flatMap((kind) => checker.getSignaturesOfType(type, kind))
    .flatMap((signature) => [
      ...signature.getParameters().map((parameter) => checker.getTypeOfSymbol(parameter)!),
      checker.getReturnTypeOfSignature(signature)!,
    ]),
];

/** All names from modules of a project, in one directory; a member that several types share counts once. */
export const publicNames = (tsconfig: string, modules: readonly string[]): readonly PublicName[] => {
  const api = new API();
  const [project] = api.updateSnapshot({ openProjects: [tsconfig] }).getProjects();
  const { checker, program } = project!;
  const found = new Map<string, PublicName>();
  const seen = new Set<number>();
  const add = (key: string, name: string, symbol: Symbol): void =>
    void found.set(key, { name, documentation: checker.getDocumentationCommentOfSymbol(symbol) });

  const visit = (type: Type, name: string): void => {
    if (seen.has(type.id)) return;
    seen.add(type.id);
    for (const part of partsOf(checker, type)) visit(part, nameOf(part, name));
    if (!type.isObjectType() && !type.isIntersectionType()) return;
    for (const member of checker.getPropertiesOfType(type)) {
      const declared = member.declarations[0];
      if (declared === undefined || !isOurs(declared.path) || !/^[A-Za-z]/.test(member.name)) continue;
      const full = `${name}.${member.name}`;
      const key = `${declared.path} ${declared.index} ${member.name}`;
      // Also ends types that grow with every call of a method, such as Column.
      if (found.has(key)) continue;
      add(key, full, member);
      const inner = checker.getTypeOfSymbol(member)!;
      visit(inner, nameOf(inner, full));
    }
  };
  const directory = dirname(modules[0]!).toLowerCase();
  const isOurs = (path: string): boolean => !relative(directory, path.toLowerCase()).startsWith('..');

  for (const module of modules)
    for (const exported of checker.getExportsOfModule(
      checker.getSymbolAtLocation(program.getSourceFile(module)!)!,
    )) {
      const symbol = exported.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      add(`${module} ${exported.name}`, exported.name, symbol);
      if (symbol.flags & SymbolFlags.Value) visit(checker.getTypeOfSymbol(symbol)!, exported.name);
      if (symbol.flags & SymbolFlags.Type) visit(checker.getDeclaredTypeOfSymbol(symbol), exported.name);
    }
  api.close();
  return [...found.values()];
};
