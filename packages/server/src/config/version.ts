/** Version of all packages. A test keeps it equal to package.json. */
export const softwareVersion = '0.1.0'
