// Locations that name members of archives: `a.zip!/b.csv`, and `a.zip!/*.csv`.

interface MemberLocation {
  readonly location: string;
  readonly member: string | undefined;
}

/** Splits a location at its first `!/`, but not at its beginning, where `!` excludes files. */
export const memberLocation = (text: string): MemberLocation => {
  const at = text.indexOf('!/', 1);
  return at === -1
    ? { location: text, member: undefined }
    : { location: text.slice(0, at), member: text.slice(at + 2) };
};

export const memberName = (archive: string, member: string): string => `${archive}!/${member}`;
