/** Where the milliseconds of a planned write stop come from. The API, the command line and the console say the same. */
export const sourceOfWriteStop =
  'estimated from measurements on an idle machine; there is no bound, and a busy machine takes longer'
