/** Version of all packages of Fairlead. A test keeps it equal to package.json. */
export const softwareVersion = '0.1.0'
