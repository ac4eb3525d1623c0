package diagnoses

// Pattern matches the codes that [Tidy] accepts. It is for the OpenAPI document.
const Pattern = `^\s*[A-Za-z][0-9](?:[A-Za-z0-9]{1,5}|[A-Za-z0-9]\.[A-Za-z0-9]{1,4})\s*$`
