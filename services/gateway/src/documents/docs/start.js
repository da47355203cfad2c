// Starts the documentation browser on this system's own document.
window.ui = window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
  // Registered as a redirect URI of the application that a person signs in for.
  oauth2RedirectUrl: `${window.location.origin}/docs/oauth2-redirect.html`,
  onComplete: () => window.ui.initOAuth({ usePkceWithAuthorizationCodeGrant: true, scopes: 'api' }),
});
