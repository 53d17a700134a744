// The part of picomatch that is used; the package has no types of its own.

declare module 'picomatch' {
  const picomatch: (glob: string, options?: { readonly posix?: boolean }) => (text: string) => boolean;
  export default picomatch;
}
