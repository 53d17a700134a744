// Loads a file of the bundle.

'use strict';

module.exports = (name) => require(`./${name}.cjs`);
