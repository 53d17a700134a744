// What the module asks TypeScript.

/**
 * (column's index, start and end of its text, address, end of the value already written there or
 * 0) -> end of the value after user functions, or 0: refused or unsure.
 */
@external('host', 'encodeByText')
export declare function encodeByText(index: u32, start: usize, end: usize, out: usize, after: usize): usize;

/** Does the record in the slots satisfy the filters? One of `wanted`, `unwanted`, `wantedUnsure`. */
@external('host', 'isWanted')
export declare function isWanted(): u32;
