/** The version of Fairlead: all packages share it. Kept equal to package.json by a test. */
export const softwareVersion = '0.1.0'
