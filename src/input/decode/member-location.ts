// Locations that name members of archives: `a.zip!/b.csv`, and `a.zip!/*.csv`.

/** A location, and what it names in the archive that is there. */
export interface MemberLocation {
  /** Of the file or archive. */
  readonly location: string;
  /** A name or glob; undefined: none. */
  readonly member: string | undefined;
}

/** What leaves files out begins with an exclamation mark, too. */
export const memberLocation = (text: string): MemberLocation => {
  const at = text.indexOf('!/', 1);
  return at === -1
    ? { location: text, member: undefined }
    : { location: text.slice(0, at), member: text.slice(at + 2) };
};

/** What people see of a member. */
export const memberName = (archive: string, member: string): string => `${archive}!/${member}`;
